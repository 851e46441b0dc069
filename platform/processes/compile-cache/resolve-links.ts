import { lstatSync } from 'node:fs';
import Module from 'node:module';

interface Resolver {
  _resolveFilename: (...request: unknown[]) => string;
}

/**
 * Makes `require` follow symbolic links at any time, as package managers lay packages out. Node's search for the real path of a
 * module takes the kind of the file that was looked at last, by anyone and synchronously, for the kind of what it has just come
 * to, and stops where that is a pipe or a socket: a package that is loaded after a look at one would not find its dependencies.
 */
export function followLinksAlways(): void {
  const resolver = Module as unknown as Resolver;
  const { _resolveFilename: resolveFilename } = resolver;
  resolver._resolveFilename = (...request) => {
    lstatSync(__dirname);
    return resolveFilename(...request);
  };
}
