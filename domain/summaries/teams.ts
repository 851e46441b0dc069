import type { Digest, TeamsMessage } from '../../contracts/system/digest';
import { printable } from '../../platform/text/printable';
import { digestFacts, failureText } from './markdown';

const line = (text: string): string => printable(text).replace(/\s+/g, ' ').trim();

/** Runs of text are shown as they are; a `TextBlock` would read markdown in the titles of others. */
const listOf = (title: string, texts: readonly string[]): object[] =>
  texts.length === 0
    ? []
    : [
        { type: 'TextBlock', text: title, weight: 'Bolder', spacing: 'Medium' },
        ...texts.map((text) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: line(text) }] })),
      ];

/** A digest as a card of Microsoft Teams. */
export function digestCard(digest: Digest, title: string): TeamsMessage {
  const { period, tasks, issues } = digest;
  const body = [
    { type: 'TextBlock', text: title, weight: 'Bolder', size: 'Large', wrap: true },
    { type: 'TextBlock', text: `${period.from ?? 'The beginning'} to ${period.to}`, isSubtle: true, wrap: true },
    { type: 'FactSet', facts: digestFacts(digest).map(([name, value]) => ({ title: name, value })) },
    ...listOf('Completed', tasks.completedTitles),
    ...listOf('Blocked', tasks.blockedTitles),
    ...listOf('Failed runs', issues.failedRuns.map(failureText)),
  ];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
  };
  const contentType = 'application/vnd.microsoft.card.adaptive' as const;
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] };
}
