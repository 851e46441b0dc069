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
