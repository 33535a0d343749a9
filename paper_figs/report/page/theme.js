// Light or dark theme: that of the system, or the one chosen here. The choice is stored if the browser allows it.

const startTheme = () => {
  const select = byId('theme'), root = document.documentElement;
  const stored = (value) => {
    try {
      if (value === undefined) return localStorage.getItem('lengthgen-theme') || '';
      localStorage.setItem('lengthgen-theme', value);
    } catch { /* the browser forbids storage */ }
    return '';
  };
  const set = (theme) => { theme ? root.dataset.theme = theme : delete root.dataset.theme; };
  select.value = ['light', 'dark'].includes(stored()) ? stored() : '';
  set(select.value);
  select.addEventListener('change', () => { set(select.value); stored(select.value); });
};
