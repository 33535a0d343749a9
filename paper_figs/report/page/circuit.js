// Drawing of a circuit in layers: the prompt on top, each step one layer below the deepest step that it reads.

const BOX = {width: 40, height: 24, step: 40, gap: 8, between: 54, margin: 12};

const layered = ({names, steps}) => {
  const depth = new Map(names.map((_, index) => [index + 1, 0]));
  for (const [position, , read] of steps) depth.set(position, 1 + Math.max(0, ...read.map(([argument]) => depth.get(argument))));
  const prompt = names.length - steps.length;
  const columns = Math.max(prompt, steps.length);
  const pitch = BOX.width + BOX.gap;
  const places = new Map();
  for (let position = 1; position <= names.length; position++) {
    const step = position > prompt;
    const index = step ? position - prompt - 1 : position - 1, count = step ? steps.length : prompt;
    const layer = depth.get(position);
    places.set(position, {
      x: BOX.margin + (index + (columns - count) / 2) * pitch,
      y: BOX.margin + (layer ? BOX.height + BOX.between + (layer - 1) * (BOX.step + BOX.between) : 0),
    });
  }
  const layers = Math.max(...depth.values());
  return {places, width: 2 * BOX.margin + columns * pitch - BOX.gap,
    height: 2 * BOX.margin + BOX.height + layers * (BOX.between + BOX.step)};
};

// Name of a token as a box can hold it; the circuit in words has it whole.
const boxed = (name) => (name.length > 6 ? `${name.slice(0, 5)}…` : name);

// `chosen` is the number of the step whose edges are highlighted, or 0 for none.
const circuit = (instance, slots, title, chosen = 0) => {
  const {names, steps} = instance;
  const {places, width, height} = layered(instance);
  const edges = [], boxes = [];
  steps.forEach(([position, operator, read], index) => {
    const to = places.get(position), marked = chosen === index + 1;
    read.forEach(([argument, slot], order) => {
      const from = places.get(argument), kind = argument > names.length - steps.length ? BOX.step : BOX.height;
      const x1 = from.x + BOX.width / 2, y1 = from.y + kind;
      const x2 = to.x + BOX.width * (order + 0.5) / read.length, y2 = to.y - 5, middle = (y1 + y2) / 2;
      const look = slots[(slot - 1) % slots.length];
      const faded = chosen && !marked ? ' other' : '';
      edges.push(hued(svg('path', {class: `edge${faded}`, d: `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`,
        'stroke-dasharray': look.dashes.join(' ') || null}, svg('title', {}, `slot ${slot} of step ${index + 1}: ${names[argument - 1]}`)), look));
      edges.push(hued(svg('path', {class: `tip${faded && ' edge other'}`, d: `M${x2 - 3.5} ${y2}h7l-3.5 5z`}), look));
    });
    boxes.push(svg('g', {},
      svg('rect', {class: `box${marked ? ' chosen' : ''}`, x: to.x, y: to.y, width: BOX.width, height: BOX.step, rx: 4}),
      svg('text', {class: 'faint', x: to.x + BOX.width / 2, y: to.y + 15, 'text-anchor': 'middle', 'font-size': 12}, `u${operator}`),
      svg('text', {x: to.x + BOX.width / 2, y: to.y + 33, 'text-anchor': 'middle', 'font-size': 13}, boxed(names[position - 1]))));
  });
  for (let position = 1; position <= names.length - steps.length; position++) {
    const {x, y} = places.get(position);
    boxes.push(svg('rect', {class: 'box', x, y, width: BOX.width, height: BOX.height, rx: 4}),
      svg('text', {x: x + BOX.width / 2, y: y + 17, 'text-anchor': 'middle', 'font-size': 13}, boxed(names[position - 1])));
  }
  const used = unique(steps.flatMap(([, , read]) => read.map(([, slot]) => slot))).sort();
  const legend = el('p', {class: 'legend note'}, ...used.map((slot) => el('span', {},
    hued(svg('svg', {width: 34, height: 8, 'aria-hidden': 'true'}, svg('path', {class: 'edge', d: 'M0 4H34',
      'stroke-dasharray': slots[(slot - 1) % slots.length].dashes.join(' ') || null})), slots[(slot - 1) % slots.length]), `slot ${slot}`)));
  const words = steps.map(([position, operator, read], index) =>
    `step ${index + 1}: ${names[position - 1]} = u${operator}(${read.map(([argument]) => names[argument - 1]).join(', ')})`);
  return [
    scroll(title, svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title}; ${words.join('; ')}`},
      ...edges, ...boxes)),
    used.length ? legend : null,
    opening(['The circuit in words'], () => [el('ul', {}, ...words.map((line) => el('li', {}, el('code', {}, line))))]),
  ];
};
