#include <gmp.h>
#include <stdio.h>
int main(void) {
  mpz_t a, b, c, d;
  mpz_inits(a, b, c, d, NULL);
  gmp_randstate_t r;
  gmp_randinit_default(r);
  gmp_randseed_ui(r, 42);
  for (int n = 10; n < 400000; n = n * 3 / 2 + 1) {
    mpz_urandomb(a, r, n);
    mpz_urandomb(b, r, n * 2 / 3 + 5);
    mpz_setbit(b, 3);
    mpz_mul(c, a, b);
    gmp_printf("%d %ZX\n", n, n < 3000 ? c : a);
    mpz_tdiv_qr(c, d, c, b);
    printf("%d %d\n", mpz_cmp(c, a), mpz_sgn(d));
    mpz_gcd(c, a, b);
    gmp_printf("%Zx\n", c);
    mpz_sqrt(c, a);
    mpz_mul(c, c, c);
    printf("%d\n", mpz_cmp(c, a) <= 0);
    if (n < 5000) {
      mpz_setbit(b, 0);
      mpz_powm(c, a, a, b);
      gmp_printf("%Zx\n", c);
      mpz_invert(c, a, b);
      gmp_printf("%Zx\n", c);
      printf("%d\n", mpz_probab_prime_p(a, 10));
    }
    mpz_sub(d, a, b);
    mpz_xor(d, d, a);
    mpz_fdiv_q_2exp(d, d, 17);
    printf("%lu %ld\n", mpz_popcount(d), mpz_get_si(d));
  }
  mpz_fac_ui(a, 3000);
  gmp_printf("%Zd\n", a);
  mpz_fib_ui(a, 5000);
  gmp_printf("%Zd\n", a);
  return 0;
}
