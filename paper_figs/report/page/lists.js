// Long lists and their filter controls.

const AT_ONCE = 60;

// A list that draws its rows when they come into view. `show` replaces the rows of the list. `heading` gives the text
// above a row; it is shown where it changes.
const lazyList = (container, draw, heading = null) => {
  let rows = [], drawn = 0, elements = [];
  const more = el('button', {type: 'button', class: 'more', onclick: () => next(AT_ONCE)});
  const next = (count) => {
    const hadFocus = document.activeElement === more;
    const added = rows.slice(drawn, drawn + count).map(draw);
    added.forEach((element, index) => {
      const place = drawn + index, text = heading && heading(rows[place]);
      if (text && (!place || text !== heading(rows[place - 1]))) container.append(el('h3', {class: 'group'}, text));
      container.append(element);
    });
    drawn += added.length;
    elements.push(...added);
    more.remove();
    if (drawn < rows.length) {
      more.textContent = `Show more (${rows.length - drawn} left)`;
      container.append(more);
    }
    if (hadFocus && added.length) added[0].querySelector('summary').focus();
  };
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && document.activeElement !== more) next(AT_ONCE);
  }, {rootMargin: '600px'}).observe(more);
  window.addEventListener('beforeprint', () => next(rows.length));
  return {
    show(wanted) {
      rows = wanted;
      drawn = 0;
      elements = [];
      container.replaceChildren();
      next(AT_ONCE);
    },
    // Draws all rows up to the given one and returns its element.
    reach(row) {
      const index = rows.indexOf(row);
      if (index >= drawn) next(index + AT_ONCE - drawn); // and some rows below it, so that it can be scrolled to the top
      return elements[index];
    },
  };
};

const options = (select, choices, chosen) => {
  select.replaceChildren(...choices.map((choice) => {
    const [value, text] = Array.isArray(choice) ? choice : [choice, choice];
    return el('option', {value, selected: String(value) === String(chosen)}, String(text));
  }));
  return select;
};

// Fills a select with choices and the number of rows of each; 'all' comes first.
const counted = (select, rows, of, texts = (value) => value, order = null) => {
  const counts = new Map();
  for (const row of rows) counts.set(of(row), (counts.get(of(row)) || 0) + 1);
  const values = [...counts.keys()].sort(order ? (a, b) => order.indexOf(a) - order.indexOf(b) : undefined);
  options(select, [['', `all (${rows.length})`], ...values.map((value) => [value, `${texts(value)} (${counts.get(value)})`])]);
};

const restart = (controls, act) => {
  for (const control of controls) {
    control.addEventListener(control.type === 'search' ? 'input' : 'change', act);
    if (control.form) control.form.onsubmit = (event) => event.preventDefault();
  }
};
