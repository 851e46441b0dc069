import type { OpenApiDocument } from '../../platform/http/routing/openapi';
import { readOpenApi } from '../../scripts/list-endpoints';
import { comments, logMessages, routeSummaries, type SourceText, testTitles, texts } from './texts';

/** Plain words for what the field has terms for: publish, notify, report, inspect, resume, store, again, the caller … */
const banned =
  /\b(tell|tells|told|hears?|heard|says?|said|leaves?|anybody|nobody|somebody|whoever|anew|bury|buried|kept|looks? (at|for)|looked|see to|seen to|takes? up|taken up|go(es)? on|gone on|put (back|away)|in the place of|what came of)\b/i;

/** Of these words, what no title of a test has. */
const bannedInTitles =
  /\b(tells?|telling|told|hears?|heard|says?|said|anybody|nobody|somebody|whoever|anew|bury|buried|look(s|ed)? at|takes? up|taken up|goes on|gone on|put back)\b/i;

/** Of these words, what neither a comment nor an error has. */
const bannedInProse = /\b(tells?|telling|untold|told|hears?|heard|says|said|anybody|nobody|somebody|whoever)\b/i;

/** What a summary begins with; a verb that is missing here is added when a route needs it. */
const verbs = new Set(
  `Abort Accept Acknowledge Add Adopt Allow Analyze Answer Append Approve Archive Attach Call Cancel Change Check Close Collect Compact Compare
  Commit Complete Continue Count Create Delete Disable Download Drain Enable Evaluate Execute Export Fetch Finalize Fire Follow Fork Import Interrupt Issue
  Launch List Mark Merge Mount Move Notify Open Override Pause Plan Predict Preview Propose Queue Read Record Register
  Reject Remove Render Reorder Replace Replay Report Request Reset Resolve Restore Resume Revoke Save Schedule Score
  Scan Search Send Set Sign Start Steer Stop Stream Submit Summarize Test Track Trigger Trust Unmount Update Validate Verify`.split(
    /\s+/,
  ),
);

const summariesOf = ({ paths }: OpenApiDocument): SourceText[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => ({
      where: `${method.toUpperCase()} ${path}`,
      text: summary,
    })),
  );

const withBanned = (texts: readonly SourceText[]): SourceText[] => texts.filter(({ text }) => banned.test(text));

describe('route summaries', () => {
  let summaries: SourceText[];
  beforeAll(async () => {
    summaries = [...summariesOf(await readOpenApi()), ...routeSummaries(['services'])];
  });

  it('begin with a verb in the imperative', () => {
    expect(summaries.length).toBeGreaterThan(300);
    expect(summaries.filter(({ text }) => !verbs.has(text.split(' ')[0] ?? ''))).toEqual([]);
  });

  it('use the terms of the field', () => {
    expect(withBanned(summaries)).toEqual([]);
  });
});

const folders = [
  'activities',
  'api',
  'domain',
  'platform',
  'providers',
  'scripts',
  'services',
  'stores',
  'worker',
  'workflows',
];

describe('log messages', () => {
  const messages = logMessages(folders);

  it('use the terms of the field', () => {
    expect(messages.length).toBeGreaterThan(100);
    expect(withBanned(messages)).toEqual([]);
  });

  it('are phrases without a full stop, short enough for a line', () => {
    expect(messages.filter(({ text }) => text.endsWith('.') || text.length > 130)).toEqual([]);
  });
});

describe('comments and texts', () => {
  it.each([
    ['comments', comments([...folders, 'contracts'])],
    ['texts', texts([...folders, 'contracts'])],
  ])('use the terms of the field in %s', (_name, stated) => {
    expect(stated.length).toBeGreaterThan(2_000);
    expect(stated.filter(({ text }) => bannedInProse.test(text))).toEqual([]);
  });
});

describe('titles of tests', () => {
  it('name the actor and use the terms of the field', () => {
    const titles = testTitles();
    expect(titles.length).toBeGreaterThan(2_000);
    expect(titles.filter(({ text }) => bannedInTitles.test(text))).toEqual([]);
  });
});

describe('the check of words', () => {
  it.each(['Tell whether it runs', 'a watcher could not be told', 'Say what you think', 'a run is taken up'])(
    'finds %j',
    (text) => {
      expect(withBanned([{ where: 'here', text }])).toHaveLength(1);
    },
  );
});
