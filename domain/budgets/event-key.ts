/** Prefix of the keys of events that the board appends about budgets: they are nothing that an agent did. */
export const budgetEventKey = 'budget/';
