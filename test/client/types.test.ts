import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clientTypes, generateClientTypes } from '../../scripts/generate-client';

describe('types of the client', () => {
  it('describe the API as it is; if not, run npm run client:generate', async () => {
    const stored = await readFile(join(__dirname, '..', '..', clientTypes), 'utf8');
    expect(stored === (await generateClientTypes())).toBe(true);
  });
});
