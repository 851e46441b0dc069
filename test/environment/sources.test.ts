import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import * as errors from '../../platform/errors/app-error';

const source = require.resolve('../../platform/errors/app-error.ts');

describe('sources of the project in tests', () => {
  it('are evaluated once for a worker of jest, by Node itself', () => {
    const loaded = createRequire(__filename)(source) as typeof errors;
    expect(loaded.assertFound).toBe(errors.assertFound);
  });

  it('have their own lines in stack traces', async () => {
    const lines = (await readFile(source, 'utf8')).split('\n');
    const thrownAt = lines.findIndex((line) => line.includes('throw notFound(')) + 1;
    let stack = '';
    try {
      errors.assertFound(undefined, 'thing', 'one');
    } catch (error) {
      stack = (error as Error).stack ?? '';
    }
    expect(stack).toContain(`${source}:${thrownAt}:`);
  });
});
