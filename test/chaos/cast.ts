import { join } from 'node:path';

/** Every kind of agent that takes part, by its type. */
const kinds = {
  working: ['work', '15', '100'],
  fast: ['fast'],
  explorer: ['explore', '3', '100'],
  frail: ['frail', '5', '100'],
  doomed: ['doomed'],
} as const;

export type Kind = keyof typeof kinds;

/** The agents as they are configured; the one that is to be refused when it is retried can be disabled. */
export function castOf({ doomed = true }: { doomed?: boolean } = {}): object[] {
  return Object.entries(kinds).map(([type, args]) => ({
    type,
    name: type,
    provider: 'process',
    command: process.execPath,
    args: [join(__dirname, '..', 'support', 'agents', 'ledger-bee.mjs'), ...args],
    environmentKeys: ['LEDGER'],
    enabled: type !== 'doomed' || doomed,
  }));
}
