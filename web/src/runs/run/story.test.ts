import type { RunEvent } from '../../api/client';
import { createStory } from './story';

let sequence = 0;
const anEvent = (kind: RunEvent['kind'], payload: Record<string, unknown>, itemId?: string): RunEvent => {
  sequence += 1;
  const at = new Date(Date.UTC(2026, 0, 1) + sequence * 1_000).toISOString();
  // Only what a story is made of.
  return { kind, payload, sequence, receivedAt: at, ...(itemId === undefined ? {} : { itemId }) } as RunEvent;
};

function storyOf(...events: RunEvent[]) {
  const folded = createStory();
  events.forEach((event) => folded.add(event));
  return folded.story;
}

describe('story of a run', () => {
  it('replaces what was streamed by the whole message', () => {
    const { parts } = storyOf(
      anEvent('message.delta', { text: 'Hel' }),
      anEvent('message.delta', { text: 'lo' }),
      anEvent('message.assistant', { text: 'Hello.' }),
      anEvent('message.assistant', { text: 'Next.' }),
    );
    expect(parts).toMatchObject([{ text: 'Hello.' }, { text: 'Next.' }]);
  });

  it('pairs the start and the end of overlapping calls by their item', () => {
    const { parts } = storyOf(
      anEvent('tool.started', { name: 'grep', detail: 'a' }, '1'),
      anEvent('tool.started', { name: 'grep', detail: 'b' }, '2'),
      anEvent('tool.completed', { name: 'grep', status: 'failed', detail: 'no b' }, '2'),
      anEvent('tool.completed', { name: 'grep', detail: 'found a' }, '1'),
    );
    expect(parts).toMatchObject([
      { input: 'a', output: 'found a', state: 'completed' },
      { input: 'b', output: 'no b', state: 'failed' },
    ]);
  });

  it('pairs calls without items by name in their order, and shows an end without a start', () => {
    const { parts } = storyOf(
      anEvent('tool.started', { name: 'test' }),
      anEvent('tool.completed', { name: 'test' }),
      anEvent('tool.completed', { name: 'other' }),
    );
    expect(parts).toMatchObject([
      { name: 'test', state: 'completed' },
      { name: 'other', state: 'completed' },
    ]);
  });

  it('sums the use of tokens, without what came over HTTP', () => {
    const { usage, model } = storyOf(
      anEvent('usage.updated', { model: 'm', inputTokens: 2, outputTokens: 3, cost: 0.5 }),
      anEvent('usage.updated', { inputTokens: 1, outputTokens: 1, cost: 0.25 }),
      anEvent('usage.updated', { inputTokens: 9, telemetryEventId: 'counted' }),
    );
    expect([usage, model]).toEqual([{ inputTokens: 3, outputTokens: 4, cost: 0.75 }, 'm']);
  });

  it('gathers files that change one after the other', () => {
    const { parts } = storyOf(
      anEvent('file.changed', { path: 'a', status: 'added' }),
      anEvent('file.changed', { path: 'b', status: 'modified' }),
      anEvent('file.changed', { path: 'a', status: 'modified' }),
    );
    expect(parts).toMatchObject([{ files: [{ path: 'b' }, { path: 'a', status: 'modified' }] }]);
  });
});
