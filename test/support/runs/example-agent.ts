import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const script = resolve(__dirname, '../../../examples/acp-agent/agent.mjs');

/** The configured agent `scripted`: the example that speaks the Agent Client Protocol, with its sessions under `dir`. */
export const exampleAgent = (dir: string, ...more: string[]) => ({
  type: 'scripted',
  name: 'Scripted',
  provider: 'acp',
  command: process.execPath,
  args: [script, '--state', join(dir, 'sessions'), ...more],
});

/** What the agent may write in a sandbox: its worktree, and its sessions, which are not in a `/tmp` of its own everywhere. */
export async function writableSessions(dir: string): Promise<string[]> {
  const sessions = join(dir, 'sessions');
  await mkdir(sessions, { recursive: true });
  return ['.', sessions];
}
