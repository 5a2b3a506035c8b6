package plot

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

// option returns the ECharts option of the live chart: plain data, without
// functions, so that any front end can pass it to setOption. Whiskers and
// numbers are lines on a second pair of axes, hidden, that counts rows.
func (v candidateView) option() map[string]any {
	c := charts.NewBar()
	c.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTitleOpts(opts.Title{
			Title: v.fit(v.title, 14), Subtitle: v.fit(v.subtitle, 11), Left: "12", Top: "6",
			TitleStyle: &opts.TextStyle{FontSize: 14}, SubtitleStyle: &opts.TextStyle{FontSize: 11},
		}),
		charts.WithLegendOpts(opts.Legend{Left: "12", Top: "54", ItemWidth: 14, ItemHeight: 10, Data: v.series}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "item"}),
		charts.WithGridOpts(opts.Grid{
			Left: pixels(barsLeft), Right: pixels(barsRight), Top: pixels(barsTop),
			Bottom: pixels(barsBottom + noteHeight*len(v.notes)),
		}),
		charts.WithXAxisOpts(opts.XAxis{
			Type: "value", Name: "probability among the candidates", NameLocation: "middle", NameGap: 28,
			Min: 0, Max: v.end, MinInterval: v.tick, MaxInterval: v.tick,
			AxisLine: &opts.AxisLine{Show: opts.Bool(false)},
		}),
		charts.WithYAxisOpts(opts.YAxis{
			Type: "category", Inverse: opts.Bool(true), Data: v.tickLabels(),
			AxisLabel: &opts.AxisLabel{Interval: "0", FontSize: 12, FontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"},
		}),
		charts.WithColorsOpts(opts.Colors{css(barColours[0]), css(barColours[1]), css(barColours[2])}),
	)
	c.ExtendYAxis(opts.YAxis{Type: "value", Min: 0, Max: max(len(v.rows), 1), Inverse: opts.Bool(true), Show: opts.Bool(false)})

	lines := charts.NewLine()
	var whiskers []opts.LineData
	for j, name := range v.series {
		bars := make([]opts.BarData, len(v.rows))
		ends := make([]opts.LineData, len(v.rows))
		for i, r := range v.rows {
			x, y := r.values()[j], barCentre(i, j)
			end, ok := v.bar(x)
			bars[i] = opts.BarData{Value: "-", Tooltip: &opts.Tooltip{Formatter: types.FuncStr(r.details(v.names))}}
			if ok {
				bars[i].Value = end
			}
			if lo, hi, ok := v.whisker(r); ok && j == 2 {
				end = max(end, hi)
				whiskers = append(whiskers, whisker(lo, hi, y)...)
			}
			if !ok {
				end = 0
			}
			ends[i] = opts.LineData{Name: number(x), Value: []any{end, y}, Symbol: "circle", SymbolSize: 1}
		}
		c.AddSeries(name, bars, charts.WithBarChartOpts(opts.BarChart{BarWidth: pixels(barHeight), BarGap: "10%"}))
		lines.AddSeries(name, ends,
			charts.WithLineChartOpts(opts.LineChart{YAxisIndex: 1, ShowSymbol: opts.Bool(true)}),
			charts.WithLineStyleOpts(opts.LineStyle{Opacity: opts.Float(0)}),
			charts.WithItemStyleOpts(opts.ItemStyle{Opacity: opts.Float(0)}),
			charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "right", Formatter: "{b}", FontSize: 10}),
		)
	}
	lines.AddSeries(v.series[2], whiskers,
		charts.WithLineChartOpts(opts.LineChart{YAxisIndex: 1, Symbol: "none"}),
		charts.WithLineStyleOpts(opts.LineStyle{Width: 1, Color: "currentColor"}),
	)
	c.Overlap(lines)
	c.Validate()
	c.XAxisList[0].Data, c.YAxisList[0].Data = nil, v.tickLabels()
	return v.adjust(c.JSON())
}

// whisker returns a line from lo to hi with a cap at each end, and a gap.
func whisker(lo, hi, y float64) []opts.LineData {
	const cap = 3.0 / rowHeight
	points := [][2]any{{lo, y - cap}, {lo, y + cap}, {lo, y}, {hi, y}, {hi, y - cap}, {hi, y + cap}, {nil, nil}}
	data := make([]opts.LineData, len(points))
	for i, p := range points {
		data[i] = opts.LineData{Value: p}
	}
	return data
}

func (v candidateView) tickLabels() []string {
	labels := make([]string, len(v.rows))
	for i, r := range v.rows {
		labels[i] = r.label
		if r.chosen {
			labels[i] = "▸ " + r.label
		}
	}
	return labels
}

// adjust turns an option of go-echarts into plain data and adds what go-echarts
// has no field for.
func (v candidateView) adjust(option map[string]any) map[string]any {
	text, err := json.Marshal(option)
	if err != nil {
		panic("plot: marshal an ECharts option: " + err.Error()) // no NaN is put in, and all else marshals
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		panic("plot: unmarshal an ECharts option: " + err.Error())
	}
	delete(o, "toolbox")
	o["legend"].(map[string]any)["selectedMode"] = false // bars would move from under their whiskers

	for _, axis := range []any{o["xAxis"].([]any)[0], o["yAxis"].([]any)[0]} {
		axis.(map[string]any)["axisTick"] = map[string]any{"show": false}
	}
	series := o["series"].([]any)
	for _, s := range series {
		s := s.(map[string]any)
		if s["type"] != "line" {
			continue
		}
		s["silent"], s["z"] = true, 3
		if label, ok := s["label"].(map[string]any); ok {
			label["opacity"] = 1 // and not that of its point, which is 0
		}
	}
	if len(v.notes) > 0 {
		o["title"] = []any{o["title"], map[string]any{
			"text": strings.Join(v.notes, "\n"), "left": 12, "bottom": 4,
			"textStyle": map[string]any{"fontSize": 11, "fontWeight": "normal", "lineHeight": noteHeight},
		}}
	}
	for i, r := range v.rows {
		if r.chosen {
			series[len(series)-1].(map[string]any)["markArea"] = map[string]any{
				"silent": true, "z": 0, "itemStyle": map[string]any{"color": css(chosenShade)},
				"data": []any{[]any{map[string]any{"yAxis": i}, map[string]any{"yAxis": i + 1}}},
			}
		}
	}
	return o
}

func pixels(n int) string { return strconv.Itoa(n) }
