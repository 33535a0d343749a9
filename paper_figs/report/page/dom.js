// Helpers that build elements from text nodes and attributes, so that no text is ever read as markup.

const make = (space) => (tag, attributes = {}, ...children) => {
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => ![null, undefined, false, ''].includes(child)));
  return element;
};
const el = make(null);
const svg = make('http://www.w3.org/2000/svg');
const mathml = make('http://www.w3.org/1998/Math/MathML');

const byId = (id) => document.getElementById(id);
const data = (name) => JSON.parse(byId(`data-${name}`).textContent);

const formula = (tree) => {
  const [tag, attributes, ...children] = tree;
  return mathml(tag, attributes, ...children.map((child) => (Array.isArray(child) ? formula(child) : child)));
};

// Sets the colour of an encoding or slot on an element, for light and dark backgrounds.
const hued = (element, look) => {
  element.classList.add('hue');
  element.style.setProperty('--light', look.light);
  element.style.setProperty('--dark', look.dark);
  return element;
};

const scroll = (name, ...children) => el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': name}, ...children);

// A table; each of `columns` is [heading, row -> cell, class], and the first column holds the row headings.
const table = (caption, columns, rows) =>
  scroll(caption, el('table', {},
    el('caption', {}, caption),
    el('thead', {}, el('tr', {}, ...columns.map(([heading, , kind]) => el('th', {scope: 'col', class: kind}, heading)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...columns.map(([, cell, kind], index) =>
      el(index ? 'td' : 'th', {scope: index ? null : 'row', class: kind}, cell(row))))))));

// A details element whose content is built when it is first opened.
const opening = (summary, build, attributes = {}) => {
  const details = el('details', attributes, el('summary', {}, ...summary));
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(el('div', {class: 'body'}, ...build()));
  });
  return details;
};

const pairs = (...entries) => el('dl', {}, ...entries.filter((entry) => entry && entry[1] !== '' && entry[1] !== null)
  .flatMap(([name, ...value]) => [el('dt', {}, name), el('dd', {}, ...value)]));
const number = (value, places = 3) =>
  value === null || value === undefined ? '–' : typeof value === 'number' ? String(+value.toFixed(places)) : String(value);
const chance = (value) => (value === null || value === undefined ? '–'
  : value >= 1e6 ? value.toExponential(1) : String(+value.toPrecision(2)));
const plural = (count, of) => `${count} ${of}${count === 1 ? '' : 's'}`;
const yes = (value) => (value === null || value === undefined ? '–' : value ? 'yes' : 'no');
const unique = (values) => [...new Set(values)];
