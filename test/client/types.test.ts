import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenApiDocument } from '../../platform/http/routing/openapi';
import { clientTypes, documentFile, documentText, generateClientTypes } from '../../scripts/generate-client';
import { readOpenApi } from '../../scripts/list-endpoints';

const stored = (path: string) => readFile(join(__dirname, '..', '..', path), 'utf8');

describe('files of the client; if they are not current, run npm run client:generate', () => {
  let document: OpenApiDocument;
  beforeAll(async () => {
    document = await readOpenApi();
  });

  it('have the OpenAPI document of the API', async () => {
    expect((await stored(documentFile)) === documentText(document)).toBe(true);
  });

  it('describe the API as it is', async () => {
    expect((await stored(clientTypes)) === (await generateClientTypes(document))).toBe(true);
  });
});
