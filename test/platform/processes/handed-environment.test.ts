import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { handOver } from '../../../platform/processes/environment/handed-environment';

const environment = join(__dirname, '..', '..', '..', 'dist', 'platform', 'processes', 'environment');

describe('the environment of a part', () => {
  /** The variables of the C library's memory that a part begins with, and those that it has and passes on after that. */
  async function allocationOf(given: NodeJS.ProcessEnv): Promise<unknown> {
    const { initial, handed } = handOver({ PATH: process.env.PATH, ...given });
    const script = `
      const allocation = () => Object.entries(process.env).filter(([name]) => name.startsWith('MALLOC_')).sort();
      const first = allocation();
      require('${environment}/handed-environment.js').receiveEnvironment();
      console.log(JSON.stringify({ first, then: allocation(), key: process.env.A_KEY }));`;
    const part = spawn(process.execPath, ['-e', script], {
      env: initial,
      stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'pipe'],
    });
    (part.stdio[4] as Writable).end(handed);
    return JSON.parse(await text(part.stdout as Readable)) as unknown;
  }

  test('a part returns freed memory to the system, and what it starts is left as it is', async () => {
    expect(await allocationOf({ A_KEY: 'value' })).toEqual({
      first: [
        ['MALLOC_ARENA_MAX', '2'],
        ['MALLOC_MMAP_THRESHOLD_', '131072'],
      ],
      then: [],
      key: 'value',
    });
  });

  test('what the operator has set stays, for the part and what it starts', async () => {
    const set = ['MALLOC_MMAP_THRESHOLD_', '65536'] as const;
    expect(await allocationOf(Object.fromEntries([set]))).toEqual({
      first: [['MALLOC_ARENA_MAX', '2'], set],
      then: [set],
    });
  });
});
