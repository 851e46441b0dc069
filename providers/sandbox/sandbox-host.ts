import type { AgentUser } from '../agents/user/agent-user';
import { type ProbedSandbox, probeSandbox } from './probe';

/** How long what was found out about a host counts, in milliseconds. */
const lastsMs = 60_000;

/** What the runs of a host are confined with. */
export interface SandboxHost {
  /** What this host can do; found out by running a sandbox, now and then again. */
  probe(): Promise<ProbedSandbox>;
  /** Absolute paths that no run sees: the data of the service. */
  protectedPaths: readonly string[];
  /** Absolute paths that every run sees, read-only. */
  shownPaths?: readonly string[] | undefined;
  /** `host:port` of the API, which agents that launch children reach by exception from their preset. */
  apiAddress?: string | undefined;
}

/** @param user that agents run as; the user of this process when absent */
export function createSandboxHost({
  user,
  protectedPaths,
  shownPaths,
  apiAddress,
}: Pick<SandboxHost, 'protectedPaths' | 'shownPaths' | 'apiAddress'> & { user?: AgentUser | undefined }): SandboxHost {
  let current: { at: number; probe: Promise<ProbedSandbox> } | undefined;
  return {
    protectedPaths,
    shownPaths,
    apiAddress,
    probe() {
      if (!current || performance.now() - current.at > lastsMs) {
        current = { at: performance.now(), probe: probeSandbox(user) };
      }
      return current.probe;
    },
  };
}
