import { readFile } from 'node:fs/promises';
import { describeOperations } from '../../../scripts/list-endpoints';

describe('the pages made from the OpenAPI document', () => {
  it('are current; if not, run npm run docs:endpoints', async () => {
    for (const [path, page] of Object.entries(await describeOperations())) {
      expect([path, await readFile(path, 'utf8')]).toEqual([path, page]);
    }
  });
});
