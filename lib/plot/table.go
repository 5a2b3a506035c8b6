package plot

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A table holds the numbers behind a figure. A cell is a string, an int, a
// bool or a float64.
type table struct {
	columns []string
	rows    [][]any
}

// data returns the table as JSON data: columns, rows and, where rows were
// left out, how many (omitted). JSON has no NaN and no infinities: they are
// the strings "NaN", "Infinity" and "-Infinity", as JavaScript's Number reads.
func (t table) data(limit int) map[string]any {
	n := min(limit, len(t.rows))
	rows := make([]any, n)
	for i, row := range t.rows[:n] {
		cells := make([]any, len(row))
		for j, cell := range row {
			cells[j] = jsonCell(cell)
		}
		rows[i] = cells
	}
	columns := make([]any, len(t.columns))
	for i, c := range t.columns {
		columns[i] = c
	}
	d := map[string]any{"columns": columns, "rows": rows}
	if n < len(t.rows) {
		d["omitted"] = len(t.rows) - n
	}
	return d
}

func jsonCell(cell any) any {
	x, ok := cell.(float64)
	switch {
	case !ok:
		return cell
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return x
}

func (t table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write(t.columns) // errors stay until Flush
	line := make([]string, len(t.columns))
	for _, row := range t.rows {
		for j, cell := range row {
			if x, ok := cell.(float64); ok {
				line[j] = strconv.FormatFloat(x, 'g', -1, 64)
			} else {
				line[j] = fmt.Sprint(cell)
			}
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// number writes x for reading: three significant digits, and words or signs
// for what is not a number.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "+∞"
	case math.IsInf(x, -1):
		return "−∞"
	case x < 0:
		return "−" + number(-x)
	case x == 0:
		return "0"
	case x < 0.001 || x >= 1e6:
		return strconv.FormatFloat(x, 'e', 1, 64)
	case x < 0.09995: // what rounds to 0.100 is written so
		return strconv.FormatFloat(x, 'f', 4, 64)
	case x < 0.9995:
		return strconv.FormatFloat(x, 'f', 3, 64)
	case x < 100:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}
