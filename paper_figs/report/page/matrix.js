// A label matrix, keys by queries. Arrow keys move in it. All pairs with the label of the selected pair are highlighted.

const labelOf = (labels, key, query) => labels[query * (query - 1) / 2 + key - 1];

// Labels with neighbouring numbers get very different hues; the cell also shows the number.
const shade = (cell, label) => {
  cell.classList.add('shade');
  cell.style.setProperty('--turn', (label * 137.5) % 360);
  cell.style.setProperty('--paper', label ? '88%' : '96%');
  cell.style.setProperty('--night', label ? '25%' : '15%');
};

// `relevant` maps 'key,query' to the slots filled by that pair; `chosen` is the query whose arguments are marked.
const matrix = ({labels, names, relevant, chosen, slots, title, describeLabel}) => {
  const length = names.length, cells = new Map(), byLabel = new Map();
  const body = [];
  for (let key = 1; key <= length; key++) {
    const row = [el('th', {scope: 'row'}, names[key - 1])];
    for (let query = 1; query <= length; query++) {
      if (query < key) { row.push(el('td', {class: 'void'})); continue; }
      const label = labelOf(labels, key, query), fills = relevant.get(`${key},${query}`);
      const cell = el('td', {tabindex: -1, 'data-key': key, 'data-query': query}, String(label));
      shade(cell, label);
      if (fills) {
        cell.classList.add('argument');
        if (query === chosen) { cell.classList.add('chosen'); hued(cell, slots[(fills[0] - 1) % slots.length]); }
      }
      if (!byLabel.has(label)) byLabel.set(label, []);
      byLabel.get(label).push(cell);
      cells.set(`${key},${query}`, cell);
      row.push(cell);
    }
    body.push(el('tr', {}, ...row));
  }
  const head = el('tr', {}, el('td', {class: 'void'}), ...names.map((name, index) =>
    el('th', {scope: 'col', class: index + 1 === chosen ? 'query' : null}, name)));
  const message = el('p', {class: 'pair note', role: 'status'}, 'Point at a pair, or move to one with the arrow keys.');
  let same = [];
  const look = (cell) => {
    const key = +cell.dataset.key, query = +cell.dataset.query, label = labelOf(labels, key, query);
    same.forEach((one) => one.classList.remove('same'));
    same = byLabel.get(label);
    same.forEach((one) => one.classList.add('same'));
    const fills = relevant.get(`${key},${query}`);
    message.textContent = `Key ${key} (${names[key - 1]}), query ${query} (${names[query - 1]}): label ${label}, shared by ${plural(same.length, 'pair')}`
      + `${describeLabel(label)}${fills ? `; it is an argument: slot ${fills.join(' and ')} of the step computed at this query` : ''}.`;
  };
  const grid = el('table', {class: 'matrix', 'aria-label': title,
    onpointerover: (event) => { if (event.target.dataset.key) look(event.target); },
    onfocusin: (event) => {
      if (!event.target.dataset.key) return;
      grid.querySelector('td[tabindex="0"]').tabIndex = -1;
      event.target.tabIndex = 0;
      look(event.target);
    },
    onkeydown: (event) => {
      const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      if (!move || !event.target.dataset.key) return;
      const next = cells.get(`${+event.target.dataset.key + move[0]},${+event.target.dataset.query + move[1]}`);
      event.preventDefault();
      if (next) next.focus();
    }},
  el('thead', {}, head), el('tbody', {}, ...body));
  cells.get('1,1').tabIndex = 0;
  return [el('div', {class: 'scroll'}, grid), message];
};
