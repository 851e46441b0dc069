import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import type { JsonSchema } from '../../../platform/http/routing/openapi-schema';

/** An operation in the list; `buildOpenApi` writes these fields. */
interface Listed {
  summary: string;
  tags: [string];
  'x-permission'?: string;
}

/** Every endpoint of a document as markdown: a list for each tag, in the order in which the routes were added. */
export function endpointList({ paths }: OpenApiDocument): string {
  const lists = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries<JsonSchema>(methods)) {
      // Every route is declared with a summary and one tag, which the schema of OpenAPI leaves open.
      const { summary, tags, 'x-permission': permission = 'anybody' } = operation as unknown as Listed;
      const line = `- \`${method.toUpperCase()} ${path}\` (${permission}): ${summary}`;
      lists.set(tags[0], [...(lists.get(tags[0]) ?? []), line]);
    }
  }
  return [...lists].map(([tag, lines]) => [`## ${tag}`, '', ...lines].join('\n')).join('\n\n');
}
