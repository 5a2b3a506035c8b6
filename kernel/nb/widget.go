package nb

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"sync"
)

// Widgets speak with Jupyter Widgets (ipywidgets 8) in the page: the model
// state's messages, protocol version 2.1 (widgets, "messages.md"), to models of
// @jupyter-widgets/controls 2.0. A page without it shows the text that stands
// in for the widget.

const (
	widgetTarget   = "jupyter.widget"
	controlTarget  = "jupyter.widget.control"
	widgetView     = "application/vnd.jupyter.widget-view+json"
	widgetProtocol = "2.1.0"
	controlsModule = "@jupyter-widgets/controls"
	baseModule     = "@jupyter-widgets/base"
	widgetModules  = "2.0.0"
)

// A widget is one model: what the page shows of it are views.
type widget struct {
	comm *Comm // nil where there is no page

	mu     sync.Mutex
	id     string
	state  map[string]any
	update func(state map[string]any) // the page has changed it
	custom func(content map[string]any)
}

// newWidget opens a model of that name, with one for its layout and, where
// style names it, one for its style.
func newWidget(name, style string, state map[string]any) *widget {
	view := name + "View"
	if name == "FloatProgress" {
		view = "ProgressView" // of integers, too
	}
	w := newModel(controlsModule, name+"Model", controlsModule, view)
	maps.Copy(w.state, state)
	w.state["layout"] = newModel(baseModule, "LayoutModel", baseModule, "LayoutView").opened().reference()
	w.state["style"] = newModel(controlsModule, style+"StyleModel", baseModule, "StyleView").opened().reference()
	return w.opened()
}

func newModel(module, model, viewModule, view string) *widget {
	return &widget{id: NewID(), state: map[string]any{
		"_model_module": module, "_model_module_version": widgetModules, "_model_name": model,
		"_view_module": viewModule, "_view_module_version": widgetModules, "_view_name": view,
		"_view_count": nil,
	}}
}

// opened opens the model's comm, if there is a page.
func (w *widget) opened() *widget {
	control.Do(func() { CommTarget(controlTarget, controlWidgets) })
	m := CommMessage{
		Data:     map[string]any{"state": w.state, "buffer_paths": []any{}},
		Metadata: map[string]any{"version": widgetProtocol},
	}
	// Without a page there is no comm, and the widget is a value.
	w.comm, _ = openComm(w.id, widgetTarget, m, w.receive)
	if w.comm != nil {
		models.Store(w.id, w)
	}
	return w
}

func (w *widget) reference() string { return "IPY_MODEL_" + w.id }

// receive takes a message of the page.
func (w *widget) receive(m CommMessage) {
	switch m.Data["method"] {
	case "update":
		state, _ := m.Data["state"].(map[string]any)
		w.mu.Lock()
		maps.Copy(w.state, state)
		update := w.update
		w.mu.Unlock()
		if update != nil {
			update(state)
		}
	case "request_state":
		w.mu.Lock()
		state := maps.Clone(w.state)
		w.mu.Unlock()
		w.send(state)
	case "custom":
		content, _ := m.Data["content"].(map[string]any)
		w.mu.Lock()
		custom := w.custom
		w.mu.Unlock()
		if custom != nil {
			custom(content)
		}
	}
}

// set changes the state, here and in the page.
func (w *widget) set(name string, value any) {
	w.mu.Lock()
	w.state[name] = value
	w.mu.Unlock()
	w.send(map[string]any{name: value})
}

func (w *widget) send(state map[string]any) {
	if w.comm != nil {
		w.comm.Send(map[string]any{"method": "update", "state": state, "buffer_paths": []any{}})
	}
}

func (w *widget) number(name string) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch x := w.state[name].(type) {
	case float64:
		return x
	case int:
		return float64(x)
	case json.Number:
		f, _ := x.Float64()
		return f
	}
	return math.NaN()
}

// bundle shows the widget, with what stands in for it elsewhere.
func (w *widget) bundle(text string) map[string]any {
	b := map[string]any{"text/plain": text, "text/html": "<p>" + html.EscapeString(text) + "</p>"}
	if w.comm != nil {
		b[widgetView] = map[string]any{"version_major": 2, "version_minor": 0, "model_id": w.id}
	}
	return b
}

var (
	control sync.Once
	models  sync.Map // of *widget by id
)

// controlWidgets tells a page that was opened anew of the models there are.
func controlWidgets(c *Comm, _ CommMessage) {
	c.OnMessage(func(m CommMessage) {
		if m.Data["method"] != "request_states" {
			return
		}
		states := map[string]any{}
		for id, w := range models.Range {
			w := w.(*widget)
			w.mu.Lock()
			states[id.(string)] = map[string]any{
				"model_name": w.state["_model_name"], "model_module": w.state["_model_module"],
				"model_module_version": w.state["_model_module_version"], "state": maps.Clone(w.state),
			}
			w.mu.Unlock()
		}
		c.Send(map[string]any{"method": "update_states", "states": states, "buffer_paths": []any{}})
	})
}

// A Slider lets the reader of a notebook choose a number. Its methods may be
// called from any goroutine.
type Slider struct {
	label string
	w     *widget
}

// NewSlider returns a slider from low to high, which stands at value. A cell
// that ends in it shows it, as Display does.
//
//	alpha := nb.NewSlider("alpha", 1, 8, 4)
//	alpha.OnChange(func(value float64) { fmt.Println(value) })
//	alpha
func NewSlider(label string, low, high, value float64) *Slider {
	step := 1.0
	if span := high - low; span > 0 {
		step = math.Pow(10, math.Floor(math.Log10(span/50)))
	}
	return &Slider{label, newWidget("FloatSlider", "Slider", map[string]any{
		"description": label, "min": low, "max": high, "step": step, "value": min(max(value, low), high),
		"continuous_update": true, "readout": true, "readout_format": ".2f", "orientation": "horizontal", "disabled": false,
	})}
}

// Value returns where the slider stands.
func (s *Slider) Value() float64 { return s.w.number("value") }

// Set moves the slider.
func (s *Slider) Set(value float64) { s.w.set("value", value) }

// OnChange has f called when the reader moves the slider, one call at a time,
// also while a cell runs.
func (s *Slider) OnChange(f func(value float64)) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.update = func(state map[string]any) {
		if _, moved := state["value"]; moved {
			f(s.Value())
		}
	}
}

// MIMEBundle shows the slider; where there is no page, its value.
func (s *Slider) MIMEBundle() map[string]any {
	return s.w.bundle(fmt.Sprintf("%s: %g (from %g to %g)", s.label, s.Value(), s.w.number("min"), s.w.number("max")))
}

// A Button calls a function when the reader of a notebook presses it.
type Button struct {
	label string
	w     *widget
}

// NewButton returns a button that calls click, one call at a time, also while
// a cell runs. A cell that ends in it shows it, as Display does.
func NewButton(label string, click func()) *Button {
	b := &Button{label, newWidget("Button", "Button", map[string]any{
		"description": label, "button_style": "", "icon": "", "tooltip": nil, "disabled": false,
	})}
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	b.w.custom = func(content map[string]any) {
		if content["event"] == "click" && click != nil {
			click()
		}
	}
	return b
}

// MIMEBundle shows the button; where there is no page, its name.
func (b *Button) MIMEBundle() map[string]any { return b.w.bundle("[" + b.label + "]") }

// A Gauge shows how far a number is on its way. Progress is for what ends with
// its cell; a gauge stays.
type Gauge struct {
	label string
	w     *widget
}

// NewGauge returns a gauge from 0 to high, at 0. A cell that ends in it shows
// it, as Display does.
func NewGauge(label string, high float64) *Gauge {
	return &Gauge{label, newWidget("FloatProgress", "Progress", map[string]any{
		"description": label, "min": 0.0, "max": high, "value": 0.0, "bar_style": "", "orientation": "horizontal",
	})}
}

// Set moves the gauge.
func (g *Gauge) Set(value float64) { g.w.set("value", value) }

// Value returns where the gauge stands.
func (g *Gauge) Value() float64 { return g.w.number("value") }

// MIMEBundle shows the gauge; where there is no page, its value.
func (g *Gauge) MIMEBundle() map[string]any {
	return g.w.bundle(fmt.Sprintf("%s: %g of %g", g.label, g.Value(), g.w.number("max")))
}
