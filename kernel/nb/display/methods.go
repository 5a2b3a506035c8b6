package display

// Types of a cell's own that have one of these methods show themselves by it;
// with several, in several forms. They need not name the interface.
type (
	Renderer       = interface{ Render() Data }
	SimpleRenderer = interface{ SimpleRender() MIMEMap }

	HTMLer       = interface{ HTML() string }
	JavaScripter = interface{ JavaScript() string }
	JPEGer       = interface{ JPEG() []byte }
	JSONer       = interface{ JSON() map[string]any }
	Latexer      = interface{ Latex() string }
	Markdowner   = interface{ Markdown() string }
	PNGer        = interface{ PNG() []byte }
	PDFer        = interface{ PDF() []byte }
	SVGer        = interface{ SVG() string }
)
