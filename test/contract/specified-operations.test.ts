import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readOpenApi } from '../../scripts/list-endpoints';

/** A path whose parameters have no names: those are the contract's own. */
const withoutNames = (operation: string): string => operation.replace(/\{\*?\w+\}/g, '{}');

describe('the operations that the specification names', () => {
  it('are all in the OpenAPI document', async () => {
    const names = await readFile(join(__dirname, 'fixtures', 'specified-operations.txt'), 'utf8');
    const specified = names.split('\n').filter((line) => /^[A-Z]/.test(line));
    expect(specified.length).toBeGreaterThan(340);
    const { paths } = await readOpenApi();
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => withoutNames(`${method.toUpperCase()} ${path}`)),
    );
    const served = new Set(described);
    expect(specified.filter((operation) => !served.has(withoutNames(operation)))).toEqual([]);
  });
});
