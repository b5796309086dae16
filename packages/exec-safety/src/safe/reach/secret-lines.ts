/**
 * Secret lines: what lines of files that hold credentials look like, in lower case. A search for a
 * word that none of them holds shows none.
 */

/** Files of settings, keys and credentials, as programs and services write them. */
export const SECRET_LINES: string = `
# .env, exports and settings
app_name app_env app_key app_debug app_url app_secret base_url node_env production development staging local test live debug info level true false null
db_connection db_host db_port db_database db_name db_username db_user db_password db_pass db_pwd database_url postgres postgresql mysql mariadb mongodb
mongo redis_url redis sqlite sqlserver mssql oracle jdbc dsn uri host hostname localhost port server user username login account owner admin root email
mail mailer smtp imap sender address phone proxy endpoint region zone bucket cluster namespace project_id tenant subscription domain origin
cookie session signing signature salt hash cipher encryption encrypt decrypt aes hmac rsa ecdsa ssl tls cert certificate ca_bundle chain
jwt_secret auth_token authorization authorisation bearer basic oauth oauth2 openid oidc saml sso ldap client_id client_secret refresh_token access_token id_token
api_key apikey api_token api_secret api_url secret_key secret_key_base public_key private_key master_key encryption_key service_key license_key
webhook callback redirect url token password passwd passphrase pass pwd pin otp mfa totp credential credentials secret secrets vault keychain
# services
aws_access_key_id aws_secret_access_key aws_session_token aws_default_region akia asia amazon s3_bucket s3 sqs ses lambda google gcp gcloud firebase
azure tenant_id storage account_name account_key sharedaccesskey connectionstring connection_string defaultendpointsprotocol cloudflare heroku
digitalocean netlify vercel supabase railway github ghp_ gho_ github_pat gitlab glpat bitbucket npm_token pypi docker registry artifactory
stripe sk_live sk_test pk_live pk_test rk_live whsec paypal braintree square shopify twilio sendgrid sg. mailgun mailchimp postmark slack xoxb xoxp
discord telegram bot_token twitter facebook instagram linkedin openai anthropic claude gemini mistral cohere huggingface hf_ sk-proj sk-ant replicate
sentry datadog newrelic segment algolia pusher mapbox okta auth0 clerk kubernetes terraform pulumi snyk sonar codecov hubspot zendesk jira atlassian
# keys
-----begin rsa private key----- -----begin openssh private key----- -----begin certificate----- -----begin ec private key----- -----end encrypted private key-----
-----begin pgp private key block----- proc-type: 4,encrypted dek-info: aes-128-cbc ssh-rsa ssh-ed25519 ecdsa-sha2-nistp256 aaaab3nza b3blbnnzac1rzxk
# service accounts, kube, docker, terraform
"type": "service_account" "project_id" "private_key_id" "client_email" "client_x509_cert_url" "auth_uri" "token_uri" "auth_provider_x509_cert_url"
iam.gserviceaccount.com googleapis.com accounts.google.com universe_domain "auths" "auth": "identitytoken" "credhelpers" "credsstore"
apiversion: v1 kind: config clusters: contexts: current-context: certificate-authority-data: client-certificate-data: client-key-data: users: name: exec:
"version" "terraform_version" "serial" "lineage" "outputs" "value" "resources" "mode" "managed" "provider" "instances" "attributes" "sensitive" "string" "data" "metadata"
# netrc, npmrc, pgpass, git, my.cnf
machine login password //registry npmjs npm pkg :_authtoken= _auth= always-auth=true index-servers = repository: url = https://
[remote "origin"] fetch = +refs/heads/*:refs/remotes/origin/* [branch "main"] [credential] helper = store extraheader = authorization: [user] [core] insteadof
[client] [mysql] [default] [profile] output = json region = us-east-1 role_arn source_profile
# people's own
recovery codes: 12345678 wallet mnemonic seed phrase bank card number cvv iban ssn salary
`;

/** Parts of words that make any word one of credentials: `resetPassword`, `AUTH_TOKENS`. */
export const SECRET_STEMS: RegExp =
  /passw|passphrase|passwd|secret|token|credential|api_?key|private|access_?key|auth(?!or)|bearer|certif|encrypt|begin|akia|webhook|connection_?str/;

/** Runs of signs that code and commands have and credentials do not. */
export const CODE_SIGNS: readonly string[] = ["`", "$(", "()", "=>", "</", "&&", "||"];
