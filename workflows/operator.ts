/** Who sends what has no proof: somebody who reaches Temporal, whoever that is and whatever name the message claims. */
export const temporalOperator = 'operator:temporal';
