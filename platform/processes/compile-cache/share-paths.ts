import Module from 'node:module';

interface Loader {
  _nodeModulePaths: (directory: string) => string[];
}

/**
 * Gives the modules of a directory one set of strings for where packages are looked for: Node makes eight or so for each of the
 * thousands of modules of a part, and keeps them.
 */
export function sharePackagePaths(): void {
  const loader = Module as unknown as Loader;
  const { _nodeModulePaths: pathsOf } = loader;
  const known = new Map<string, readonly string[]>();
  loader._nodeModulePaths = (directory) => {
    const paths = known.get(directory) ?? pathsOf(directory);
    known.set(directory, paths);
    // A module may add to its own.
    return [...paths];
  };
}
