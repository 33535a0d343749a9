"""Membership of regular languages in C-RASP as printed in arXiv 2608.13433, Table 1, and in its examples.

Languages of Table 1 with an exponent k or a named alphabet are left out.
"""

_MEMBERS = """
(aa(ba)*abb(ab)*b)* (aa*bb*)(aa*bb*)(aa*bb*) (ab)(ab)*aa* (ab)(ab)*bb*(ab)(ab)* (ab+ba)* b* (ba)* (a(ab)*b)*
(a+b)*d(b+c)* aa*bb*cc*dd*ee* a*b*a*b* (bbac)* acabccc* (ac)*c+ba+a (b*)*(ab)* bba(c+a)* cba*baa b*baa cba*+abbc
aaa*c a*a*b+aac bcb*abbb (ca)*(cb)* b*cbbcaa (b*b)* (a*)*(ac)* ccc(ba)* bcaca*+ba (ba)*b*bc b*cc(ca)* (ac)*bab*
a*b+acab (ca)*a*bb b+ca+b(c+a)* (abbc)* c+cab+(bc)* c*b+bb* a(bc)* (ca)*(ab)* bab(ba)* ((ac)*)* bbbc(ca)* (abcb)*
bcba+a*aa a+ca*cb+a (ba)*cb+aa (baaa)* (cb)*caa+b cccb* aac*+acca a*caaa+c caaba+a* (acba)* b*b+aa+bba cbaca*
b*ccb*ca acaa* baca(bc)* a*a(b+b)* b+c+ac(ac)* (ab+bbaa)* (ab)(ab)*aa*bb* (ab)(ab)*aa*bb*aa* (ab)(ab)*b(ab)(ab)*
(ab)* b(a+b)* (a+b)*a(a+b)*b(a+b)*
"""
_OTHERS = """
(a+b)*bb(a+b)* (a+b)*b (aa*bb*)(aa*bb*)* ((ab)(ab)*bb*)* (ab+bba)* (ab+aabb)* (aa)* (aaaa)* (abab)* (a+b+c)*ac*
(b+ab+aab)*(a+aa+b*) (b*ab*a)*b* (bab+b)* (ab)*+(bb)* (bb)*(bb)* (c+ba*)* b+(bb)* bbcc(aa)* (aba*)* (cc)* (a*ac)*
(b*ab)* (aca*)* (cca+a)* (aa+aa)* (a+c)*cbbb (b*ac)* (bcc*)* (ba+a)* (b+a)*aaac (bb)*cbac (aa+b*)* aa+ca(aa)*
(bb)*ab+ac (cc)*cccb (cc)*ccb+b bccb(aa)* (cab+c)* (a+ac+a)* aba+c(bb)* b*b*(aa)* (a*ca)* (cbb+b)* (a+c)*(cb)*
(aa)*bba* (cac*)* (ba+a+c)* (b*a+c)* cc+cc(bb)* (cbc*)* (baa+b)* (b*bc)* (a+aac)* (a*bb)* (cc)*bac (bb)*c*ac
(b+ac+c)* (b+bc)* a*a*(bb)* (a*ab)* bcbb(bb)* (ca)*(cc)* a*(ba*ba*)*
"""
MEMBERS = tuple(_MEMBERS.split())
"""Languages that are printed as members."""
OTHERS = tuple(_OTHERS.split())
"""Languages that are printed as outside."""
TRAPS = ("(a+b)*b", "(aa*bb*)(aa*bb*)*")
"""Languages outside that a program which skips the loops at a state would accept."""
