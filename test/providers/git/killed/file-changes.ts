import fs from 'node:fs';
import promises from 'node:fs/promises';
import type { Moment } from './git-killer';

type Change = (...args: unknown[]) => unknown;

/** The functions that change files or directories, as the code under test finds them. */
const changing = [
  ...['chmod', 'copyFile', 'cp', 'link', 'mkdir', 'rename', 'rm', 'rmdir', 'symlink', 'unlink', 'utimes', 'writeFile'],
];

/**
 * Counts every change below a directory as a step, and has the operation die at one: that change is the last one, or is not made,
 * and all later ones fail.
 *
 * @returns puts the functions back
 */
export function dieAtChange(directory: string, { step, when, log, dead }: Moment): () => void {
  /** Whether the operation dies after the change. @throws Error when it is dead, or dies before it */
  const begin = (name: string, paths: unknown[]): boolean => {
    const [path, other] = paths.map(String);
    if (![path, other].some((each) => each?.startsWith(directory))) {
      return false;
    }
    const isDead = fs.existsSync(dead);
    if (!isDead) {
      if (changesNothing(name, path ?? '')) {
        return false;
      }
      append(log, `${name}\n`);
      if (fs.readFileSync(log, 'utf8').split('\n').length - 1 <= step) {
        return false;
      }
    }
    if (isDead || when === 'before') {
      append(dead, '');
      throw new Error(`killed before ${name} ${path}`);
    }
    return true;
  };
  const end = (): never => {
    append(dead, '');
    throw new Error('killed');
  };
  const restores = changing.flatMap((name) => [
    replace(promises, name, (real) => async (...args) => {
      const isLast = begin(name, args);
      const done = await real(...args);
      return isLast ? end() : done;
    }),
    replace(fs, `${name}Sync`, (real) => (...args) => {
      const isLast = begin(name, args);
      const done = real(...args);
      return isLast ? end() : done;
    }),
  ]);
  return () => restores.forEach((restore) => restore());
}

/** Removing what is not there, and making a directory that is. */
function changesNothing(name: string, path: string): boolean {
  const facts = fs.lstatSync(path, { throwIfNoEntry: false });
  return name === 'mkdir' ? facts?.isDirectory() === true : name === 'rm' && facts === undefined;
}

/** By functions that are not replaced. */
function append(path: string, text: string): void {
  const file = fs.openSync(path, 'a');
  fs.writeSync(file, text);
  fs.closeSync(file);
}

/** @returns puts the function back */
function replace(module: object, name: string, by: (real: Change) => Change): () => void {
  const functions = module as Record<string, Change>;
  const real = functions[name] as Change;
  functions[name] = by(real);
  return () => {
    functions[name] = real;
  };
}
