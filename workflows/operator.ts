/** The actor of a message without a proof: any client of Temporal, whatever name the message claims. */
export const temporalOperator = 'operator:temporal';

/** The name that such a message claims, as it is recorded: nothing is certain about its shape or length. */
export const claimed = (actor: unknown): string => (typeof actor === 'string' ? actor : typeof actor).slice(0, 200);
