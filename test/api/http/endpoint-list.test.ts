import { readFile } from 'node:fs/promises';
import { describeEndpoints, endpointsPage } from '../../../scripts/list-endpoints';

describe('endpoint list', () => {
  it('is written down for people as it is; if not, run npm run docs:endpoints', async () => {
    expect(await readFile(endpointsPage, 'utf8')).toBe(await describeEndpoints());
  });
});
