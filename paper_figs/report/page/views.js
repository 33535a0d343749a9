// Navigation: one view is shown at a time, selected by the address: #claims, #claims/ID, #tasks/NAME, #relations/NAME, ...
// A view starts when it is first shown, and returns {reach(name), filter()}: show one thing, and read the filters anew.

const STARTS = {overview: startOverview, claims: startClaims, tasks: startTasks, relations: startRelations, runs: startRuns, verdicts: startVerdicts, verdict: startVerdict, court: startCourt, provenance: startProvenance};
const started = new Map();

const open = (moved) => {
  const address = readAddress(), found = byId(address.view);
  const view = found && found.classList.contains('view') ? address.view : 'overview';
  sayUnknown(view === address.view ? '' : `This page has no view '${address.view}'. The views are listed above.`);
  for (const section of document.querySelectorAll('.view')) section.hidden = section.id !== view;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === `#${view}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = view === 'overview' ? 'lengthgen report' : `${byId(`h-${view}`).textContent} · lengthgen report`;
  if (view in STARTS && !started.has(view)) started.set(view, STARTS[view]());
  const shown = started.get(view) || {};
  if (moved) {
    window.scrollTo(0, 0);
    byId(`h-${view}`).focus({preventScroll: true});
  }
  if (view !== address.view) return;
  if (!address.name) {
    if (shown.filter) shown.filter();
  } else if (!shown.reach || !shown.reach(address.name)) {
    sayUnknown(`This page has no '${address.name}' under ${view}. It may be of another folder of results, or the name may be misspelt.`);
  }
};

startTheme();
window.addEventListener('hashchange', () => open(true));
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('main').focus();
});
open(false);
