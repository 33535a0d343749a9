// The address of a view: #VIEW, #VIEW/NAME for one thing in it, #VIEW?search=...&paper=... for its filters.

const readAddress = () => {
  const [path, query = ''] = location.hash.slice(1).split('?');
  const [view, ...rest] = path.split('/');
  let name = rest.join('/');
  try { name = decodeURIComponent(name); } catch (error) { if (!(error instanceof URIError)) throw error; }
  return {view: view || 'overview', name, filters: new URLSearchParams(query)};
};

// Says that a link of the address leads nowhere, or takes that back.
const sayUnknown = (what) => {
  const place = byId('unknown');
  place.hidden = !what;
  place.textContent = what || '';
};

const valueOf = (control) => (control.type === 'checkbox' ? (control.checked ? 'yes' : '') : control.value);

// Keeps the filters of a view in its address. `controls` maps names to elements; `act` shows what fits.
const filtersInAddress = (view, controls, act) => {
  const entries = Object.entries(controls);
  const write = () => {
    const set = new URLSearchParams(entries.map(([name, control]) => [name, valueOf(control)]).filter(([, value]) => value));
    history.replaceState(null, '', `#${view}${[...set].length ? `?${set}` : ''}`);
  };
  restart(entries.map(([, control]) => control), () => { sayUnknown(''); write(); act(); });
  return () => {
    const {filters} = readAddress();
    for (const [name, control] of entries) {
      const value = filters.get(name) || '';
      if (control.type === 'checkbox') control.checked = value === 'yes';
      else control.value = value;
      if (control.value === '' && value && control.type !== 'checkbox') {
        control.value = '';
        sayUnknown(`The address asks for ${name} '${value}', which this page does not have; all are shown.`);
      }
    }
    act();
  };
};

// A link to a view with filters: link('claims', {verdict: 'refuted'}).
const addressOf = (view, filters) => `#${view}?${new URLSearchParams(filters)}`;
