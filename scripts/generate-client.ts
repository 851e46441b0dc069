import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OpenApiDocument } from '../platform/http/routing/openapi';
import { makeTempDir } from '../platform/testing/temp-dir';
import { readOpenApi } from './list-endpoints';

/** Where the types of the client are, from the root of the project. */
export const clientTypes = 'clients/typescript/src/types.ts';

const generator = join(__dirname, '..', 'node_modules', 'openapi-typescript', 'bin', 'cli.js');
const maxBytes = 32 * 1_048_576;

type Responses = Record<string, object>;

/** Every refusal has one form, which is written once for an operation and not once for each status. */
function foldRefusals(document: OpenApiDocument): OpenApiDocument {
  const folded = structuredClone({ ...document, components: { ...document.components, responses: {} } });
  const refusal = {
    description: 'Refused',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  for (const operation of Object.values(folded.paths).flatMap((path) => Object.values(path))) {
    const others = Object.entries(operation.responses as Responses).filter(([status]) => Number(status) < 400);
    operation.responses = { ...Object.fromEntries(others), default: refusal };
  }
  return folded;
}

/** A JSON value refers to itself, which a type here cannot: it is anything instead. */
function cutRecursion(document: OpenApiDocument): OpenApiDocument {
  const schemas = Object.entries(document.components.schemas);
  const cut = schemas.map(([name, schema]) => [name, name.startsWith('__schema') ? {} : schema] as const);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(cut) } };
}

/** Where the OpenAPI document is, from the root of the project. */
export const documentFile = 'clients/typescript/openapi.json';

/** What `documentFile` holds. */
export const documentText = (document: OpenApiDocument): string => `${JSON.stringify(document, undefined, 1)}\n`;

/** The types as they should be, by the OpenAPI document of the API. */
export async function generateClientTypes(described: OpenApiDocument): Promise<string> {
  const directory = await makeTempDir('client');
  try {
    const document = join(directory.path, 'openapi.json');
    await writeFile(document, JSON.stringify(cutRecursion(foldRefusals(described))));
    // A field with a default may be left out of a request.
    const args = [generator, document, '--default-non-nullable=false', '--alphabetize'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: maxBytes });
    return `/* eslint-disable */\n${stdout}`;
  } finally {
    await directory.remove();
  }
}

if (require.main === module) {
  void readOpenApi().then(async (document) => {
    await writeFile(documentFile, documentText(document));
    await writeFile(clientTypes, await generateClientTypes(document));
  });
}
