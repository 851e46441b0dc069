/**
 * Lints the OpenAPI document in the repository (clients/typescript/openapi.json) with the rules of Redocly: `node scripts/lint/openapi.mjs`
 * exits with 1 when something is wrong, and names it.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseResolver, createConfig, lintDocument, makeDocumentFromString } from '@redocly/openapi-core';

export const documentFile = join(
  dirname(fileURLToPath(import.meta.url)),
  '..',
  '..',
  'clients',
  'typescript',
  'openapi.json',
);

const rules = {
  'parameter-description': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-schema-examples': 'error',
  'operation-singular-tag': 'error',
  'component-name-unique': 'error',
  // Fixed words are beside ids by the specification; a router prefers them, and ids have a form of their own.
  'no-ambiguous-paths': 'off',
};

/** What a rule does not see: this operation sends the browser to the provider, and has no other success. */
const exceptions = [['operation-2xx-response', '#/paths/~1api~1auth~1oidc~1login/get/responses']];

/**
 * @param source the document as text
 * @returns one sentence for each thing that is wrong, with its rule and where it is
 */
export async function openApiProblems(source) {
  const config = await createConfig({ extends: ['recommended-strict'], rules });
  const problems = await lintDocument({
    document: makeDocumentFromString(source, documentFile),
    externalRefResolver: new BaseResolver(),
    config: config.styleguide,
  });
  return problems
    .map(({ ruleId, message, location: [at] }) => ({ ruleId, message, pointer: at?.pointer ?? '#/' }))
    .filter(({ ruleId, pointer }) => !exceptions.some(([rule, place]) => rule === ruleId && place === pointer))
    .map(({ ruleId, message, pointer }) => `${ruleId} at ${pointer}: ${message}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = await openApiProblems(readFileSync(documentFile, 'utf8'));
  for (const problem of problems) {
    console.error(`- ${problem}`);
  }
  process.exitCode = problems.length > 0 ? 1 : 0;
}
