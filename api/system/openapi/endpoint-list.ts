import type { OpenApiDocument } from '../../../platform/http/routing/openapi';

/** Every endpoint of a document as markdown: a list for each tag, in the order in which the routes were added. */
export function endpointList({ paths }: OpenApiDocument): string {
  const lists = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { summary, tags, deprecated, 'x-permission': permission = 'public' } = operation;
      const mark = deprecated ? ' (deprecated)' : '';
      const line = `- \`${method.toUpperCase()} ${path}\` (${permission}): ${summary}${mark}`;
      lists.set(tags[0], [...(lists.get(tags[0]) ?? []), line]);
    }
  }
  return [...lists].map(([tag, lines]) => [`## ${tag}`, '', ...lines].join('\n')).join('\n\n');
}
