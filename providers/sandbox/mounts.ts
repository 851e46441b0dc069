/**
 * One step of how the files of a sandbox are laid out; later steps lie over earlier ones.
 *
 * - `read`, `write`: a file or directory of the host
 * - `empty`: a directory of its own, in memory, with at most so many bytes
 * - `hidden`: nothing can be read or made there
 * - `sealed`: a directory made by an earlier step, in which nothing more can be made
 */
export type Mount =
  | { kind: 'read' | 'write'; path: string; source?: string; optional?: boolean }
  | { kind: 'empty'; path: string; bytes: number; mode?: string }
  | { kind: 'hidden'; path: string; isDirectory: boolean }
  | { kind: 'blank'; path: string; isDirectory: boolean }
  | { kind: 'link'; path: string; target: string }
  | { kind: 'sealed' | 'devices' | 'processes'; path: string };

/** Files of the host that stand for those that are hidden: one cannot be read, and the other is empty. */
export interface Stand {
  locked: string;
  blank: string;
}

/** The arguments of bubblewrap for a layout. */
export const mountArguments = (mounts: readonly Mount[], stand: Stand): string[] =>
  mounts.flatMap((mount) => argumentsOf(mount, stand));

/** A directory that is hidden holds nothing, and nothing can be made in it. */
const hiddenBytes = '4096';

function argumentsOf(mount: Mount, stand: Stand): string[] {
  const { path } = mount;
  switch (mount.kind) {
    case 'read':
    case 'write': {
      const bind = mount.kind === 'read' ? '--ro-bind' : '--bind';
      return [mount.optional ? `${bind}-try` : bind, mount.source ?? path, path];
    }
    case 'empty':
      return ['--perms', mount.mode ?? '0700', '--size', String(mount.bytes), '--tmpfs', path];
    case 'hidden':
      return mount.isDirectory ? directory(path, '0000') : ['--ro-bind', stand.locked, path];
    case 'blank':
      return mount.isDirectory ? directory(path, '0555') : ['--ro-bind', stand.blank, path];
    case 'link':
      return ['--symlink', mount.target, path];
    case 'sealed':
      return ['--remount-ro', path];
    case 'devices':
      return ['--dev', path];
    case 'processes':
      return ['--proc', path];
  }
}

const directory = (path: string, mode: string): string[] => [
  ...['--perms', mode, '--size', hiddenBytes, '--tmpfs', path],
  ...['--remount-ro', path],
];
