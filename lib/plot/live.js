/* Draws the queued charts of a page. Called with the window and the ECharts
   library (gzip, base64) once for every figure; the first call that can do so
   unpacks the library, and figures and library may come in any order. */
(function (w, packed) {
  var b = w.__branchbook = w.__branchbook || {};
  b.queue = b.queue || [];
  if (b.flush) { b.flush(); return; }
  if (b.unpacking) return;
  b.unpacking = true;

  // Colours come from the page: the ink that text has where the figure stands.
  function theme(ink) {
    var line = { lineStyle: { color: ink, opacity: 0.15 } };
    var axis = { axisLabel: { color: ink }, nameTextStyle: { color: ink }, axisLine: { lineStyle: { color: ink, opacity: 0.4 } },
                 axisTick: line, splitLine: line };
    return { backgroundColor: 'transparent', textStyle: { color: ink }, categoryAxis: axis, valueAxis: axis, logAxis: axis,
             title: { textStyle: { color: ink }, subtextStyle: { color: ink } }, legend: { textStyle: { color: ink } },
             line: { label: { color: ink } } };
  }

  // An option says currentColor for the ink.
  function inked(part, ink) {
    if (part === null || typeof part !== 'object') return part;
    var copy = Array.isArray(part) ? [] : {};
    Object.keys(part).forEach(function (k) { copy[k] = k === 'color' && part[k] === 'currentColor' ? ink : inked(part[k], ink); });
    return copy;
  }

  function draw(host, figure) {
    var still = host.querySelector('img'), ink, chart;
    var place = w.document.createElement('div');
    place.style.cssText = 'width:' + figure.width + 'px;height:' + figure.height + 'px';
    function paint() {
      var now = w.getComputedStyle(host).color;
      if (now === ink) return;
      ink = now;
      if (chart) chart.dispose();
      chart = b.echarts.init(place, theme(ink), { width: figure.width, height: figure.height });
      chart.setOption(inked(figure.option, ink));
    }
    host.appendChild(place);
    try { paint(); } catch (e) { host.removeChild(place); throw e; }
    if (still) still.style.display = 'none';
    // A reader who changes the theme sees the chart follow it.
    new w.MutationObserver(function (_, me) {
      if (host.isConnected) w.setTimeout(paint, 100);
      else me.disconnect();
    }).observe(w.document.body, { attributes: true });
  }

  function flush() {
    b.queue = b.queue.filter(function (figure) {
      var hosts = w.document.querySelectorAll('[id="' + figure.id + '"]:not([data-live])');
      hosts.forEach(function (host) {
        host.setAttribute('data-live', '1');
        try { draw(host, figure); } catch (e) { w.console.warn('branchbook: a figure stays a picture:', e); }
      });
      return hosts.length === 0 && !w.document.querySelector('[id="' + figure.id + '"]');
    });
  }

  Promise.resolve().then(function () {
    var bytes = Uint8Array.from(w.atob(packed), function (c) { return c.charCodeAt(0); });
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  }).then(function (source) {
    // exports, module and define are hidden so that the library neither
    // registers itself with a require.js on the page nor becomes a global.
    var script = w.document.createElement('script');
    script.textContent = '(function(){var exports={},module={exports:exports},define;' + source +
      '\n;window.__branchbook.echarts=exports})()';
    w.document.head.appendChild(script).remove();
    if (!b.echarts) throw new Error('branchbook: the chart library did not run');
    b.flush = flush;
    flush();
  }).catch(function (e) { b.unpacking = false; w.console.warn('branchbook: figures stay pictures:', e); });
})
