import { dirname, join } from 'node:path';
import { type ToolServerDefinition, toolServerWrite } from '../../../contracts/integrations/tool-server';
import { digestOf } from '../../../platform/json/digest';

type Fields = Partial<Omit<ToolServerDefinition, 'transport'>> & { transport?: unknown };

/** What a caller sends to create the definition of a tool server. */
export const aToolServerBody = ({ transport, ...fields }: Fields = {}) =>
  toolServerWrite.parse({
    displayName: 'Everything',
    transport: transport ?? programOf('everything'),
    ...fields,
  });

/** The definition of a tool server. */
export function aToolServer({ id = 'everything', ...fields }: Fields = {}): ToolServerDefinition {
  const own = { schemaVersion: 'tool-server-definition/v1' as const, id, ...aToolServerBody(fields) };
  const at = '2026-11-01T00:00:00.000Z';
  return { ...own, revision: 1, digest: digestOf(own), createdAt: at, updatedAt: at };
}

const serverScripts = {
  everything: '@modelcontextprotocol/server-everything',
  filesystem: '@modelcontextprotocol/server-filesystem',
  memory: '@modelcontextprotocol/server-memory',
};

const modules = join(__dirname, '..', '..', '..', 'node_modules');

/** The script of a real server of the Model Context Protocol. */
export const scriptOf = (name: keyof typeof serverScripts): string =>
  join(modules, serverScripts[name], 'dist', 'index.js');

/** A transport that starts one of these servers. */
export const programOf = (name: keyof typeof serverScripts, ...args: string[]) => ({
  kind: 'stdio',
  command: process.execPath,
  args: [scriptOf(name), ...args],
});

/** A transport that starts `test/support/tool-servers/hostile.mjs`. */
export const hostileProgram = (how: string, ...args: string[]) => ({
  kind: 'stdio',
  command: process.execPath,
  args: [join(dirname(__dirname), 'tool-servers', 'hostile.mjs'), how, ...args],
});

/** A transport that starts `test/support/tool-servers/ledger.mjs`, which writes to the file. */
export const ledgerProgram = (file: string) => ({
  kind: 'stdio',
  command: process.execPath,
  args: [join(dirname(__dirname), 'tool-servers', 'ledger.mjs'), file],
});
