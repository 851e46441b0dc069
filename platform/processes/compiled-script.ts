import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * The absolute path of the compiled script of a thread or a process, beside the module that starts it. Where sources run
 * uncompiled, which Node cannot load, it is the one that was built from them.
 *
 * @param directory `__dirname` of the module that starts it
 * @param name `thread.js`
 */
export function compiledScript(directory: string, name: string): string {
  const beside = join(directory, name);
  if (existsSync(beside)) {
    return beside;
  }
  const root = join(__dirname, '..', '..');
  return join(root, 'dist', relative(root, directory), name);
}
