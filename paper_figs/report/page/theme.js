// Light or dark: as the system says, or as chosen here. The choice is kept where the browser lets a page keep something.

const startTheme = () => {
  const select = byId('theme'), root = document.documentElement;
  const kept = (value) => {
    try {
      if (value === undefined) return localStorage.getItem('lengthgen-theme') || '';
      localStorage.setItem('lengthgen-theme', value);
    } catch { /* not here */ }
    return '';
  };
  const set = (theme) => { theme ? root.dataset.theme = theme : delete root.dataset.theme; };
  select.value = ['light', 'dark'].includes(kept()) ? kept() : '';
  set(select.value);
  select.addEventListener('change', () => { set(select.value); kept(select.value); });
};
