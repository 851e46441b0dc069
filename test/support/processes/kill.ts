/** Kills a process that may have ended since it was found. @returns whether it was there to be killed */
export function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
