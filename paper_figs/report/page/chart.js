// Line chart with a slider that selects one x value. Pointing at the chart moves the slider, and so do the arrow keys.

const MARKERS = {
  o: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z', s: 'M-3.6 -3.6h7.2v7.2h-7.2z', D: 'M0 -5l5 5l-5 5l-5 -5z', d: 'M0 -5l3.3 5l-3.3 5l-3.3 -5z',
  '^': 'M0 -5l4.6 8h-9.2z', v: 'M0 5l4.6 -8h-9.2z', '<': 'M-5 0l8 -4.6v9.2z', '>': 'M5 0l-8 -4.6v9.2z',
  P: 'M-1.6 -4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z', p: 'M0 -5l4.8 3.5l-1.8 5.5h-6l-1.8 -5.5z',
  X: 'M-4.4 -2.2l2.2 -2.2l2.2 2.2l2.2 -2.2l2.2 2.2l-2.2 2.2l2.2 2.2l-2.2 2.2l-2.2 -2.2l-2.2 2.2l-2.2 -2.2l2.2 -2.2z',
  '*': 'M0 -5.5l1.4 3.9h4l-3.2 2.5l1.1 4l-3.3 -2.4l-3.3 2.4l1.1 -4l-3.2 -2.5h4z',
};

const marker = (look, x, y) => svg('path', {class: `point${look.fill === 'none' ? ' none' : look.fill === 'full' ? '' : ' half'}`,
  d: MARKERS[look.marker] || MARKERS.o, transform: `translate(${x} ${y})`});
const swatch = (look) => hued(svg('svg', {width: 40, height: 14, 'aria-hidden': 'true'},
  svg('path', {class: 'curve', d: 'M0 7H40', 'stroke-dasharray': look.dashes.join(' ') || null}), marker(look, 20, 7)), look);

const nice = (top) => {
  const power = 10 ** Math.floor(Math.log10(top || 1));
  return power * [1, 2, 2.5, 5, 10].find((step) => step * power >= top);
};

// Path through the points (x(index), y(value)); it is broken where a value is missing.
const curvePath = (points, x, y) => {
  let pen = 'M';
  return points.map((value, index) => {
    if (value === null || value === undefined) { pen = 'M'; return ''; }
    const drawn = `${pen}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = 'L';
    return drawn;
  }).join('');
};

// series: {look, points: [y by x], seeds: [[y by x]]}. `describe(index)` returns the elements shown for the selected x.
const chart = ({title, xs, of, series, band, threshold, top = 1, describe, start = 0}) => {
  const HEIGHT = 260, LEFT = 40, RIGHT = 14, TOP = 10, BOTTOM = 34;
  const place = el('div', {}), out = el('output', {}), reading = el('div', {role: 'status'});
  const range = el('input', {type: 'range', min: 0, max: xs.length - 1, value: start, 'aria-label': `${of}, to read the chart at`});
  let line, width;
  const x = (index) => LEFT + (xs.length > 1 ? index / (xs.length - 1) : 0.5) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const path = (points) => curvePath(points, x, y);
  const read = () => {
    const index = +range.value;
    line.setAttribute('x1', x(index));
    line.setAttribute('x2', x(index));
    out.textContent = `${of} ${xs[index]}`;
    range.setAttribute('aria-valuetext', out.textContent);
    reading.replaceChildren(...describe(index));
  };
  const draw = () => {
    width = Math.max(280, Math.min(place.clientWidth || 740, 860));
    const every = Math.ceil(xs.length * 26 / (width - LEFT - RIGHT));
    const half = xs.length > 1 ? (x(1) - x(0)) / 2 : 20;
    line = svg('line', {class: 'at', y1: TOP, y2: HEIGHT - BOTTOM});
    const drawn = svg('svg', {width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', 'aria-label': title},
      band ? svg('rect', {class: 'band', x: x(band[0]) - half, y: TOP, width: x(band[1]) - x(band[0]) + 2 * half, height: HEIGHT - TOP - BOTTOM}) : null,
      ...[0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
        svg('line', {class: 'grid', x1: LEFT, x2: width - RIGHT, y1: y(share * top), y2: y(share * top)}),
        svg('text', {class: 'faint', x: LEFT - 6, y: y(share * top) + 4, 'text-anchor': 'end', 'font-size': 12}, String(+(share * top).toPrecision(3)))]),
      ...xs.map((value, index) => (index % every ? null : svg('text', {class: 'faint', x: x(index), y: HEIGHT - BOTTOM + 16, 'text-anchor': 'middle', 'font-size': 12}, String(value)))),
      svg('text', {class: 'faint', x: width - RIGHT, y: HEIGHT - 3, 'text-anchor': 'end', 'font-size': 12}, of),
      threshold ? svg('line', {class: 'threshold', x1: LEFT, x2: width - RIGHT, y1: y(threshold), y2: y(threshold)}) : null,
      line,
      ...series.flatMap(({look, points, seeds = []}) => [
        ...seeds.map((seed) => hued(svg('path', {class: 'seed', d: path(seed)}), look)),
        hued(svg('g', {}, svg('path', {class: 'curve', d: path(points), 'stroke-dasharray': look.dashes.join(' ') || null}),
          ...points.map((value, index) => (value === null || value === undefined ? null : marker(look, x(index), y(value))))), look)]));
    const point = (event) => {
      const at = event.clientX - drawn.getBoundingClientRect().left;
      const index = Math.round((at - LEFT) / (width - LEFT - RIGHT) * (xs.length - 1)) || 0;
      const nearest = Math.max(0, Math.min(xs.length - 1, index));
      if (nearest !== +range.value) { range.value = nearest; read(); }
    };
    drawn.addEventListener('pointermove', point);
    drawn.addEventListener('pointerdown', point);
    place.replaceChildren(drawn);
    read();
  };
  range.addEventListener('input', read);
  draw();
  new ResizeObserver(() => { if (Math.abs(Math.min(place.clientWidth, 860) - width) > 1 && place.clientWidth >= 280) draw(); }).observe(place);
  return [place, el('div', {class: 'pick'}, range, out), reading];
};
