import type { HostSandbox } from '../../../contracts/runs/launch/host-sandbox';
import { hostSandboxOf } from '../../../domain/sandbox/support';
import type { AgentHost } from './agent-environment';

/** What this host confines runs to that have a sandbox preset, and sentences about what it cannot do. */
export async function foundSandbox({ sandbox }: AgentHost): Promise<{ sandbox?: HostSandbox; diagnostics: string[] }> {
  if (!sandbox) {
    return { diagnostics: [] };
  }
  const { features, missing } = await sandbox.probe();
  return {
    ...(features ? { sandbox: hostSandboxOf(features) } : {}),
    diagnostics: missing.map((problem) => `Sandbox of this host: ${problem}`),
  };
}
