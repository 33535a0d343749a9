// Navigation: one view is shown at a time, selected by the address: #claims, #claims/ID, #tasks/NAME, #relations/NAME, ...

const STARTS = {claims: startClaims, tasks: startTasks, relations: startRelations, runs: startRuns, verdicts: startVerdicts, court: startCourt, provenance: startProvenance};
const started = new Map();

const open = (moved) => {
  const [wanted, ...rest] = location.hash.slice(1).split('/');
  const view = byId(wanted) && byId(wanted).classList.contains('view') ? wanted : 'overview';
  for (const section of document.querySelectorAll('.view')) section.hidden = section.id !== view;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === `#${view}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = view === 'overview' ? 'lengthgen report' : `${byId(`h-${view}`).textContent} · lengthgen report`;
  if (view in STARTS && !started.has(view)) started.set(view, STARTS[view]());
  const reach = started.get(view), name = rest.join('/');
  if (moved) {
    window.scrollTo(0, 0);
    byId(`h-${view}`).focus({preventScroll: true});
  }
  if (name && reach) {
    try { reach(decodeURIComponent(name)); } catch (error) { if (!(error instanceof URIError)) throw error; }
  }
};

startTheme();
window.addEventListener('hashchange', () => open(true));
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('main').focus();
});
open(false);
