"use strict";
// Draws every figure of the page in the colours of the page, and again when those change.
(() => {
  const { figures, palettes } = JSON.parse(document.getElementById("figure-data").textContent);
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const places = [...document.querySelectorAll("[data-figure]")];

  const variable = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const palette = () => palettes[prefersDark.matches && !root.classList.contains("printing") ? "dark" : "light"];
  const stops = (colors) => colors.map((color, index) => [index / (colors.length - 1), color]);

  const traceInColors = (trace, index, scale) => {
    const { curves, ...scales } = palette();
    if (trace.type === "heatmap") return { ...trace, colorscale: stops(scales[scale]) };
    const color = curves[(trace.meta ?? index) % curves.length];
    if (trace.fill) return { ...trace, fillcolor: `${color}2b` };
    return { ...trace, line: { ...trace.line, color }, marker: { ...trace.marker, color } };
  };

  const axisInColors = (axis) => ({
    ...axis,
    gridcolor: variable("--line"),
    linecolor: variable("--line"),
    tickcolor: variable("--line"),
    tickfont: { color: variable("--faint") },
  });

  const layoutInColors = (layout) => ({
    ...layout,
    xaxis: axisInColors(layout.xaxis),
    yaxis: axisInColors(layout.yaxis),
    paper_bgcolor: "transparent",
    plot_bgcolor: "transparent",
    font: { family: variable("--sans"), size: 12, color: variable("--text") },
    hoverlabel: {
      bgcolor: variable("--panel"),
      bordercolor: variable("--line"),
      font: { family: variable("--sans"), size: 13, color: variable("--text") },
    },
    modebar: { bgcolor: "transparent", color: variable("--faint"), activecolor: variable("--accent") },
  });

  const options = {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
  };

  const draw = async (place) => {
    const { data, layout } = figures[Number(place.dataset.figure)];
    const traces = data.map((trace, index) => traceInColors(trace, index, layout.meta));
    await Plotly.react(place, traces, layoutInColors(layout), options);
    place.dataset.drawn = palette() === palettes.dark ? "dark" : "light";
  };
  const drawAll = () => Promise.all(places.map(draw));

  prefersDark.addEventListener("change", drawAll);
  // Paper is white and narrow: print in light colours and at its width, whatever the screen shows.
  const drawFor = (printing) => {
    root.classList.toggle("printing", printing);
    drawAll();
    for (const place of places) Plotly.relayout(place, { autosize: true });
  };
  addEventListener("beforeprint", () => drawFor(true));
  addEventListener("afterprint", () => drawFor(false));
  drawAll();
})();
