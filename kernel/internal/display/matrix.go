package display

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// matrix is a matrix of gonum's.
type matrix interface {
	Dims() (rows, columns int)
	At(i, j int) float64
}

// maxSide is how many rows and columns of a matrix are shown.
const maxSide = 20

// matrixText writes a matrix in rows, as gonum's mat.Formatted does:
//
//	⎡1  2.5⎤
//	⎣0    4⎦
func matrixText(m matrix) string {
	rows, columns := m.Dims()
	r, c := min(rows, maxSide), min(columns, maxSide)
	cells, width := make([][]string, r), make([]int, c)
	for i := range cells {
		for j := range c {
			text := fmt.Sprintf("%.6g", m.At(i, j))
			cells[i] = append(cells[i], text)
			width[j] = max(width[j], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for i, row := range cells {
		left, right := "⎢", "⎥"
		switch {
		case r == 1:
			left, right = "[", "]"
		case i == 0:
			left, right = "⎡", "⎤"
		case i == r-1:
			left, right = "⎣", "⎦"
		}
		b.WriteString(left)
		for j, text := range row {
			if j > 0 {
				b.WriteString("  ")
			}
			fmt.Fprintf(&b, "%*s", width[j], text)
		}
		b.WriteString(right + "\n")
	}
	if r < rows || c < columns {
		fmt.Fprintf(&b, "(%d of %d rows, %d of %d columns)\n", r, rows, c, columns)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
