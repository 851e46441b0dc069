/** What `NODE_OPTIONS` has to be for Node to load a file first, whatever characters its path has. */
export const loadFirst = (path: string): string => `--require=${JSON.stringify(path)}`;
