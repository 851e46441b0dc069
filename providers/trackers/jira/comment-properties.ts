import { z } from 'zod';
import { type JiraClient, parsedOfJira } from './client';
import type { JiraEdition } from './edition';
import { noneOf } from './find-created';
import { accountOf, propertyKey } from './shapes';

const sentComment = z.looseObject({
  id: z.string(),
  author: z.looseObject({ name: z.string().nullish() }).nullish(),
  properties: z.array(z.unknown()).nullish(),
});

/**
 * Comments with their properties. Releases of Data Center that do not list them with comments return those of one comment: they
 * are read for comments of the account itself, the only ones that it has given any.
 */
export async function commentProperties(
  jira: JiraClient,
  edition: JiraEdition,
  comments: readonly unknown[],
): Promise<unknown[]> {
  const read = comments.map((one) => parsedOfJira(sentComment, one));
  if (edition.deployment === 'cloud' || read.every(({ properties }) => properties)) {
    return read;
  }
  const { id: self } = parsedOfJira(accountOf(edition), await jira.get('myself'));
  const completed: unknown[] = [];
  for (const one of read) {
    const isOwn = !one.properties && one.author?.name === self;
    const property = isOwn
      ? await jira.get(`comment/${encodeURIComponent(one.id)}/properties/${propertyKey}`).catch(noneOf)
      : undefined;
    completed.push(property === undefined ? one : { ...one, properties: [property] });
  }
  return completed;
}
