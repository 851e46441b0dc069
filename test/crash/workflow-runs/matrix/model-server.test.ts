import { testKills } from './matrix';

describe('kill -9 of the model server in the middle of a stage', () => {
  testKills('model server');
});
