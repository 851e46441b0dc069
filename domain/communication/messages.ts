import type { AdapterDelivery } from '../../contracts/chat/adapter-delivery';
import { printable } from '../../platform/text/printable';

type Message = Pick<AdapterDelivery, 'title' | 'message'>;

/** The most characters of one text of a Slack message. */
const slackTextMax = 3_000;

/** Slack reads `<!channel>`, links and mentions from these characters: https://docs.slack.dev/messaging/formatting-message-text. */
const slackEscaped = (text: string): string =>
  printable(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Pieces of at most so many characters, none of which ends in the middle of an escape or a pair of surrogates. */
function pieces(text: string, max: number): string[] {
  const found: string[] = [];
  let piece = '';
  for (const part of text.match(/&(?:amp|lt|gt);|[^]/gu) ?? []) {
    if (piece.length + part.length > max) {
      found.push(piece);
      piece = '';
    }
    piece += part;
  }
  return [...found, piece];
}

/** A message as incoming webhooks of Slack take it. */
export function slackMessage({ title, message }: Message): object {
  const text = slackEscaped(message);
  return {
    // What notifications show.
    text: title === undefined ? text : `${slackEscaped(title)}\n${text}`,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      ...(title === undefined ? [] : [{ type: 'header', text: { type: 'plain_text', text: printable(title) } }]),
      ...pieces(text, slackTextMax).map((piece) => ({ type: 'section', text: { type: 'mrkdwn', text: piece } })),
    ],
  };
}

/** A message as webhooks of Teams take it: an adaptive card, whose runs of text are shown as they are. */
export function teamsMessage({ title, message }: Message): object {
  const lines = printable(message).split('\n');
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      ...(title === undefined
        ? []
        : [
            {
              type: 'RichTextBlock',
              inlines: [{ type: 'TextRun', text: printable(title), weight: 'Bolder', size: 'Large' }],
            },
          ]),
      ...lines.map((text) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: text || ' ' }] })),
    ],
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}
