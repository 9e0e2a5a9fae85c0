// An OpenID Connect provider for tests: `node provider.mjs CLIENT` prints its issuer. Any login name is somebody.
// CLIENT is JSON. It ends with its standard input.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

let answer;
const server = createServer((request, response) => answer(request, response));
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [JSON.parse(process.argv[2])],
    claims: { openid: ['sub'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['of a test'] },
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: `${id} of the school` }) }),
  });
  answer = provider.callback();
  console.log(issuer);
});
process.stdin.on('end', () => process.exit()).resume();
