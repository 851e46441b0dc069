// Reports the conversation it is asked to continue, and offers a continuation of its own.
import { createInterface } from 'node:readline';

const { value: first } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const { conversation, sections } = JSON.parse(first);
const message = sections.find(({ id }) => id === 'conversation-message')?.text;
process.stdout.write(
  `${JSON.stringify({
    type: 'result',
    status: 'success',
    summary: conversation ? `${conversation.edge} of ${conversation.continuation.reference}: ${message}` : 'new',
    continuation: { provider: 'rememberer', kind: 'thread', reference: 'thread-7' },
  })}\n`,
  () => process.exit(0),
);
