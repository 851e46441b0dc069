import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** After standard input, output and error. */
const first = 3;
/** `O_CLOEXEC` of Linux, as `/proc` shows the flags of a descriptor. */
const closeOnExec = 0o2000000;

/** Whether the programs that this process starts inherit a descriptor; none that Node opens. */
function isInheritable(descriptor: number): boolean {
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The one that the directory was read by.
    return false;
  }
}

/**
 * Closes the files, sockets and locks that the process which started this one had left open for it: every agent and tool would
 * have them too. Called before anything is opened that does not come from Node. On systems without `/proc` nothing is closed.
 */
export function closeInheritedDescriptors(): void {
  let names: string[];
  try {
    names = readdirSync('/proc/self/fdinfo');
  } catch {
    return;
  }
  for (const descriptor of names.map(Number)) {
    if (descriptor >= first && isInheritable(descriptor)) {
      closeSync(descriptor);
    }
  }
}
